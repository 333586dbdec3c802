import { join } from 'node:path';
import ts from 'typescript';

/** The part of JSON Schema that the generator writes. `implemented` is a keyword of the double. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Limits of metadata that Stripe documents and that the types of the SDK cannot express. */
const METADATA = {
  type: 'object',
  maxProperties: 50,
  propertyNames: { maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
};

/**
 * Derives the JSON Schemas of the request parameters from the types in `parameters.ts`.
 *
 * A parameter with listed values accepts only these. The SDK adds the type `OtherString` to each list, so that code
 * with newer values compiles; the schemas leave it out.
 */
export function generateSchemas(): Record<string, JsonSchema> {
  const file = join(__dirname, 'parameters.ts');
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const declaration = source?.statements.find(
    (statement) =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === 'RequestParameters',
  );
  if (!declaration) throw new Error('parameters.ts declares no interface RequestParameters.');
  return Object.fromEntries(
    checker
      .getTypeAtLocation(declaration)
      .getProperties()
      .map((operation) => {
        const type = checker.getTypeOfSymbol(operation);
        const [all] = type.aliasTypeArguments ?? [];
        const schema = objectSchema(checker, type);
        const implemented = schema['properties'] as Record<string, unknown>;
        const rest = (all ? checker.getPropertiesOfType(all) : [])
          .map(({ name }) => name)
          .filter((name) => !(name in implemented))
          .map((name) => [name, { implemented: false }]);
        return [
          operation.name,
          { ...schema, properties: { ...implemented, ...Object.fromEntries(rest) } },
        ];
      }),
  );
}

function objectSchema(checker: ts.TypeChecker, type: ts.Type): JsonSchema {
  const properties = checker.getPropertiesOfType(type);
  const required = properties
    .filter((property) => !(property.flags & ts.SymbolFlags.Optional))
    .map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      properties.map((property) => [
        property.name,
        schemaOf(checker, checker.getNonNullableType(checker.getTypeOfSymbol(property))),
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function schemaOf(checker: ts.TypeChecker, type: ts.Type): JsonSchema {
  if (type.isUnion()) return unionSchema(checker, type.types);
  if (type.isStringLiteral()) return { enum: [type.value] };
  if (type.flags & ts.TypeFlags.String) return { type: 'string' };
  // Numbers are integers, because the implemented operations have only minor units, seconds, months and page sizes.
  if (type.flags & ts.TypeFlags.Number) return { type: 'integer' };
  if (type.flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference);
    return { type: 'array', items: item ? schemaOf(checker, item) : {} };
  }
  if (checker.getIndexInfosOfType(type).length > 0) return METADATA;
  if (type.flags & ts.TypeFlags.Object) return objectSchema(checker, type);
  throw new Error(`No schema for the type ${checker.typeToString(type)}.`);
}

function unionSchema(checker: ts.TypeChecker, types: readonly ts.Type[]): JsonSchema {
  const values = types.flatMap((type) => (type.isStringLiteral() ? [type.value] : []));
  const others = types.filter(
    (type) =>
      !type.isStringLiteral() &&
      // `OtherString` is the only intersection.
      !type.isIntersection() &&
      !(type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)),
  );
  const schemas = others
    .filter((type, index) => !isBoolean(type) || others.findIndex(isBoolean) === index)
    .map((type) => schemaOf(checker, type));
  const alternatives = values.length > 0 ? [...schemas, { enum: values }] : schemas;
  const [only, ...more] = alternatives;
  return only && more.length === 0 ? only : { anyOf: alternatives };
}

function isBoolean(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.BooleanLike) !== 0;
}
