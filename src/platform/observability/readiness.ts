import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { ReservedConnection } from '../database';
import { serviceUnavailable } from '../errors';
import { ClockCheck, NO_SESSION, ProcessSession } from '../processes';
import { Lifecycle } from './lifecycle';
import { Metrics } from './metrics';

/** Time limit in milliseconds for the answer of the database, so that the probe is answered within 1 s. */
const ANSWER_MS = 800;
/**
 * Time for which a process stays ready without its process number, in milliseconds. Connecting again usually takes less
 * time, so the load balancer does not notice a short interruption.
 */
const MAX_WITHOUT_NUMBER_MS = 5_000;

/** Checks that this process can answer requests and do due work. */
@Injectable()
export class Readiness {
  constructor(
    private readonly reservedConnection: ReservedConnection,
    private readonly lifecycle: Lifecycle,
    private readonly clockCheck: ClockCheck,
    private readonly session: ProcessSession,
    { registry }: Metrics,
  ) {
    const isReady = () =>
      this.check().then(
        () => 1,
        () => 0,
      );
    new Gauge({
      name: 'service_ready',
      help: '1 if the readiness probe would succeed, else 0.',
      registers: [registry],
      async collect() {
        this.set(await isReady());
      },
    });
  }

  /**
   * Throws if the process is not ready.
   * @throws {ProblemError} if the process stops, its database is out of reach or read-only, its clock is wrong, or the
   *   process has had no process number for more than 5 s
   */
  async check(): Promise<void> {
    if (this.lifecycle.draining) throw serviceUnavailable('The service is stopping.');
    // `OutageLog` logs the reason.
    await this.reservedConnection.requireWritable(ANSWER_MS).catch(() => {
      throw serviceUnavailable('The database does not answer, or is read-only.');
    });
    this.clockCheck.requireRight();
    if (this.session.withoutNumberMs > MAX_WITHOUT_NUMBER_MS) throw serviceUnavailable(NO_SESSION);
  }
}
