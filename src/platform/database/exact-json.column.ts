import { Column } from 'typeorm';
import { fromJson, toJson } from '../../core/exact-json';

/** A value with bigints and instants in it, as JSON that loses nothing. */
export function ExactJsonColumn(options: { readonly nullable?: true } = {}): PropertyDecorator {
  return Column({ ...options, type: 'jsonb', transformer: { from: fromJson, to: toJson } });
}
