import type { OpenAPIObject } from '@nestjs/swagger';

export type Paths = OpenAPIObject['paths'];
export type OperationObject = NonNullable<Paths[string]['get']>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

interface DocumentedOperation {
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly operation: OperationObject;
}

export function operationsOf(paths: Paths): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
}
