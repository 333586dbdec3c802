import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import type { Response } from 'express';

/**
 * Sends each item as a line of JSON, at the speed of the client. If the items cannot be read, cuts the answer off,
 * because its status has already been sent.
 */
export async function sendLines(response: Response, items: AsyncIterable<object>): Promise<void> {
  response.setHeader('Content-Type', 'application/x-ndjson');
  try {
    await pipeline(Readable.from(linesOf(items)), response);
  } catch (error) {
    // A client that disconnected needs no answer.
    if (!response.destroyed || response.errored !== null) {
      new Logger('send-lines').error(
        { err: error },
        'answer cut off: its lines could not be produced',
      );
    }
  }
}

async function* linesOf(items: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}
