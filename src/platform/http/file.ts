import { createHash } from 'node:crypto';
import type { Response } from 'express';

export interface FileAnswer {
  readonly mediaType: string;
  /** Of letters, digits, dots, dashes and underscores. */
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** Answers with a file to look at. Its ETag is made of its bytes; a caller that has them already gets 304. */
export function sendFile(response: Response, { mediaType, fileName, bytes }: FileAnswer): void {
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Disposition', `inline; filename="${fileName}"`);
  response.setHeader('ETag', `"${createHash('sha256').update(bytes).digest('base64url')}"`);
  response.send(bytes);
}
