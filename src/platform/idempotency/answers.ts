import type { Answer } from './idempotency.types';

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/** The answer of a request that made a resource: what its controller answers, for those who answer in its place. */
export function createdAnswer(dto: object, version: number): Answer {
  return {
    status: 201,
    headers: { 'Content-Type': JSON_MEDIA_TYPE, ETag: `"${version}"` },
    body: JSON.stringify(dto),
  };
}
