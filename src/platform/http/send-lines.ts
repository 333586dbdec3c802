import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import type { Response } from 'express';

/**
 * Answers with a line of JSON for each item, as fast as the caller reads them and not faster. An answer whose items fail
 * is cut off: its status was sent, so that only its end can tell.
 */
export async function sendLines(response: Response, items: AsyncIterable<object>): Promise<void> {
  response.setHeader('Content-Type', 'application/x-ndjson');
  try {
    await pipeline(Readable.from(linesOf(items)), response);
  } catch (error) {
    // Whoever has hung up needs no answer.
    if (!response.destroyed || response.errored !== null) {
      new Logger('send-lines').error({ err: error }, 'an answer was cut off');
    }
  }
}

async function* linesOf(items: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}
