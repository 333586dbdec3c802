import { createHash } from 'node:crypto';
import type { Response } from 'express';

export interface FileAnswer {
  readonly mediaType: string;
  /** Contains only letters, digits, dots, dashes and underscores. */
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** Sends a file for display in the browser. Its ETag is a hash of the bytes, so that `If-None-Match` can give a 304. */
export function sendFile(response: Response, { mediaType, fileName, bytes }: FileAnswer): void {
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Disposition', `inline; filename="${fileName}"`);
  response.setHeader('ETag', `"${createHash('sha256').update(bytes).digest('base64url')}"`);
  response.send(bytes);
}
