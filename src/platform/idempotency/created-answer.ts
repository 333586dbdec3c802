import type { Answer } from './idempotency.types';

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/** Returns the answer that the controller sends after a resource was created. */
export function createdAnswer(dto: object, version: number): Answer {
  return {
    status: 201,
    headers: { 'Content-Type': JSON_MEDIA_TYPE, ETag: `"${version}"` },
    body: JSON.stringify(dto),
  };
}

/** Returns the answer that the controller sends after a resource without a version was changed. */
export function changedAnswer(dto: object): Answer {
  return {
    status: 200,
    headers: { 'Content-Type': JSON_MEDIA_TYPE },
    body: JSON.stringify(dto),
  };
}
