import { Injectable } from '@nestjs/common';
import { Configuration } from '../config';
import { Jobs, WaitingRowsRepository } from '../jobs';
import { DatabaseGauges } from './database-gauges';

/** Number of due rows at which counting stops, so that the cost of a scrape is bounded. */
const MAX_COUNTED = 10_000;

/** Measures how many rows are due for each kind of work, in processes that do due work. */
@Injectable()
export class DueWorkMetrics {
  constructor(
    jobs: Jobs,
    rows: WaitingRowsRepository,
    gauges: DatabaseGauges,
    { doesDueWork }: Configuration,
  ) {
    if (!doesDueWork) return;
    gauges.register(
      [
        {
          name: 'due_work_waiting',
          help: `Items that are due now, by kind of work; counted up to ${MAX_COUNTED}.`,
          labelNames: ['work'],
        },
        {
          name: 'due_work_oldest_seconds',
          help: 'Seconds since the item that is due longest fell due, by kind of work; 0 if nothing is due.',
          labelNames: ['work'],
        },
      ],
      async (waitingItems, oldestItem) => {
        for (const { name, waiting: condition } of jobs.all) {
          if (condition === undefined) continue;
          const { waiting, oldestSeconds } = await rows.count(condition, MAX_COUNTED);
          waitingItems.set({ work: name }, waiting);
          oldestItem.set({ work: name }, oldestSeconds);
        }
      },
    );
  }
}
