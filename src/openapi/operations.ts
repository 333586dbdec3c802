import type { OpenAPIObject } from '@nestjs/swagger';

export type Paths = OpenAPIObject['paths'];
export type OperationObject = NonNullable<Paths[string]['get']>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** Every operation of the document with its path. */
export function operationsOf(
  paths: Paths,
): readonly { readonly path: string; readonly operation: OperationObject }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, operation }];
    }),
  );
}
