import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { versionCondition } from './versions';

/** Decorated parameters of a handler, as Nest stores them. */
type Parameters = Readonly<Record<string, { readonly factory?: unknown }>>;

/**
 * Returns which parts of a request a handler reads. Method decorators can call it, because the parameter decorators of
 * the handler have run before them.
 */
export function inputsOf(
  target: object,
  name: string | symbol,
): { readonly query: boolean; readonly body: boolean; readonly ifMatch: boolean } {
  const parameters = Object.entries(
    (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, name) ?? {}) as Parameters,
  );
  const reads = (type: RouteParamtypes) => parameters.some(([key]) => key.startsWith(`${type}:`));
  return {
    query: reads(RouteParamtypes.QUERY),
    body: reads(RouteParamtypes.BODY),
    ifMatch: parameters.some(([, { factory }]) => factory === versionCondition),
  };
}
