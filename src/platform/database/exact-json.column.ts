import { Column } from 'typeorm';
import { fromJson, toJson } from '../../core/exact-json';

/** Column for a value with bigints and instants, stored as JSON without loss. */
export function ExactJsonColumn(
  options: { readonly name?: string; readonly nullable?: true } = {},
): PropertyDecorator {
  return Column({ ...options, type: 'jsonb', transformer: { from: fromJson, to: toJson } });
}
