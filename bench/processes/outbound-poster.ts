import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Configuration, ConfigurationModule } from '../../src/platform/config';
import { OutboundHttp, OutboundModule } from '../../src/platform/outbound';
import { answerJobs } from '../support/channel';
import type { Notification } from './receiver';

/** Gives the upper bound for deliveries: posts with the service's HTTP client, and does nothing else. */

export interface PosterJob {
  readonly url: string;
  readonly count: number;
  readonly concurrency: number;
  readonly notification: Notification;
}

const DEADLINE_MS = 15_000;
const KEPT_BYTES = 20_000;

@Module({
  imports: [ConfigurationModule.with(new Configuration({})), OutboundModule],
})
class PosterModule {}

async function open(): Promise<OutboundHttp> {
  const context = await NestFactory.createApplicationContext(PosterModule, {
    logger: false,
  });
  return context.get(OutboundHttp);
}

const client = open();

/** Returns posts per second. */
answerJobs(async ({ url, count, concurrency, notification }: PosterJob): Promise<number> => {
  const http = await client;
  const startedAt = performance.now();
  let started = 0;
  const postSome = async (): Promise<void> => {
    while (started < count) {
      started += 1;
      const limits = { deadlineMs: DEADLINE_MS, keepBytes: KEPT_BYTES };
      const { status } = await http.post({ url, ...notification, ...limits });
      if (status !== 200) throw new Error(`The receiver answered ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, postSome));
  return (count * 1_000) / (performance.now() - startedAt);
});
