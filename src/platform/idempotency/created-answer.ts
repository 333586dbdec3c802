import type { Answer } from './idempotency.types';

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/** Returns the answer of a request that created a resource, as the controller would send it. */
export function createdAnswer(dto: object, version: number): Answer {
  return {
    status: 201,
    headers: { 'Content-Type': JSON_MEDIA_TYPE, ETag: `"${version}"` },
    body: JSON.stringify(dto),
  };
}

/** Returns the answer of a request that changed a resource that has no version, as the controller would send it. */
export function changedAnswer(dto: object): Answer {
  return {
    status: 200,
    headers: { 'Content-Type': JSON_MEDIA_TYPE },
    body: JSON.stringify(dto),
  };
}
