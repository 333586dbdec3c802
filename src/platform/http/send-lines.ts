import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import type { Response } from 'express';
import { identifyAgain } from '../access';

/** Number of lines after which the credential of the caller is checked again. */
const LINES_PER_CHECK = 100;

/**
 * Sends each item as a line of JSON, only as fast as the client reads. Cuts the answer off if the items cannot be read,
 * or if the credential of the caller is revoked meanwhile. An error cannot be sent then, because the status was already
 * sent.
 * @param items a null item sends no line, but checks the client and its credential; for items that take long to find
 */
export async function sendLines(
  response: Response,
  items: AsyncIterable<object | null>,
): Promise<void> {
  response.setHeader('Content-Type', 'application/x-ndjson');
  try {
    await pipeline(Readable.from(linesOf(items, response)), response);
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

async function* linesOf(
  items: AsyncIterable<object | null>,
  response: Response,
): AsyncGenerator<string> {
  let count = 0;
  for await (const item of items) {
    if (response.destroyed) return;
    if (item === null) {
      await identifyAgain(response.req);
      continue;
    }
    count += 1;
    if (count % LINES_PER_CHECK === 0) await identifyAgain(response.req);
    yield `${JSON.stringify(item)}\n`;
  }
}
