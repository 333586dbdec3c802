import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  type SchemaObject,
} from '@nestjs/swagger';
import { Transform, Type as TransformTo } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  Matches,
  ValidateNested,
} from 'class-validator';
import { idPattern, type IdPrefix } from '../ids';
import {
  COUNTRY_TEXT,
  CURRENCY_TEXT,
  DECIMAL_TEXT,
  HasNoRepeats,
  IsAtLeast,
  IsAtMost,
  IsCountry,
  IsCurrency,
  IsDecimal,
  IsIdOf,
  IsInstant,
  IsMetadata,
  IsMinorUnits,
  IsText,
  IsTimeZone,
  KEY_TEXT,
  Nullable,
  Omittable,
  RequiredOrNull,
  TIME_ZONE_TEXT,
  type YearRange,
} from './field-rules';
import { METADATA_EXAMPLE } from './properties';

/** Options of the decorators in this file, each of which validates and documents one kind of request field. */
interface FieldOptions {
  readonly example?: unknown;
  readonly optional?: true;
  /** `true`: the field can be null or left out. `required`: it can be null, but not left out. */
  readonly nullable?: true | 'required';
  readonly default?: unknown;
  readonly writeOnly?: true;
}

interface TextLimits {
  /** Minimum length. Default: 1. */
  readonly min?: number;
  readonly max: number;
}

interface ListLimits {
  /** Minimum number of items. Default: 0. */
  readonly min?: number;
  readonly max: number;
  readonly unique?: true;
}

/** Schema of text that matches a pattern. The rules of a field may require more, such as an existing currency. */
const textOf = ({ source }: RegExp) => ({ type: 'string', pattern: source }) as const;
const idOf = (prefix: IdPrefix) => ({ type: 'string', pattern: idPattern(prefix) }) as const;

/** Composes the decorator of a field from its schema and its rules. Errors are reported in the order of the rules. */
export function Field(
  schema: ApiPropertyOptions,
  rules: readonly PropertyDecorator[],
  description: string,
  { example, optional, nullable, default: fallback, writeOnly }: FieldOptions = {},
): PropertyDecorator {
  const isOptional = optional === true || nullable === true;
  const decorate = isOptional ? ApiPropertyOptional : ApiProperty;
  return applyDecorators(
    decorate({
      ...schema,
      ...(nullable !== undefined && { nullable: true }),
      ...(fallback !== undefined && { default: fallback }),
      ...(writeOnly === true && { writeOnly }),
      description,
      ...(example !== undefined && { example }),
    }),
    ...rules.toReversed(),
    ...presenceRules(optional, nullable),
  );
}

function presenceRules(
  optional: true | undefined,
  nullable: true | 'required' | undefined,
): readonly PropertyDecorator[] {
  if (nullable === 'required') return [RequiredOrNull()];
  if (nullable === true) return [Nullable()];
  return optional === true ? [Omittable()] : [];
}

export function TextField(
  description: string,
  { min = 1, max, ...options }: TextLimits & FieldOptions,
): PropertyDecorator {
  const schema = { type: String, ...(min > 0 && { minLength: min }), maxLength: max };
  return Field(schema, [IsText(min, max)], description, options);
}

/**
 * Text that matches a regular expression.
 * @param message says what the text must be
 */
export function PatternField(
  pattern: RegExp,
  message: string,
  description: string,
  options?: FieldOptions,
): PropertyDecorator {
  return Field(textOf(pattern), [Matches(pattern, { message })], description, options);
}

export function KeyField(description: string, options?: FieldOptions): PropertyDecorator {
  const message = 'must be 1 to 255 printable ASCII characters';
  const schema = { ...textOf(KEY_TEXT), minLength: 1, maxLength: 255 };
  return Field(schema, [Matches(KEY_TEXT, { message })], description, options);
}

/** Id of a resource. Only its length is checked, because a malformed id is treated like an unknown one. */
export function ReferenceField(description: string, options?: FieldOptions): PropertyDecorator {
  return TextField(description, { max: 40, ...options });
}

/** Filter of a list by the id of a resource. An unknown id gives an empty list. */
export function ReferenceFilter(description: string): PropertyDecorator {
  return ReferenceField(description, { optional: true });
}

export function IdField(
  prefix: IdPrefix,
  description: string,
  options?: FieldOptions,
): PropertyDecorator {
  return Field(idOf(prefix), [IsIdOf(prefix)], description, options);
}

export function EnumField(
  values: readonly string[],
  description: string,
  options?: FieldOptions,
): PropertyDecorator {
  return Field({ enum: [...values] }, [IsIn(values)], description, options);
}

/** OpenAPI style of a list separated by commas. Typed as `object`, because Nest allows it only for `@ApiQuery`. */
const SEPARATED_BY_COMMAS: object = { style: 'form', explode: false };

function listOfText(): readonly PropertyDecorator[] {
  return [
    IsArray(),
    Omittable(),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.split(',') : value,
    ),
  ];
}

/** Filter of a list by one or more values, separated by commas. */
export function EnumListFilter(values: readonly string[], description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      enum: [...values],
      isArray: true,
      uniqueItems: true,
      ...SEPARATED_BY_COMMAS,
      description: `${description} Several values are separated by commas.`,
    }),
    IsIn(values, { each: true }),
    HasNoRepeats(),
    ...listOfText(),
  );
}

/** Filter of a list by the ids of resources, separated by commas. Unknown ids match nothing. */
export function IdListFilter(
  prefix: IdPrefix,
  description: string,
  { max }: Pick<ListLimits, 'max'>,
): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      items: idOf(prefix),
      maxItems: max,
      uniqueItems: true,
      ...SEPARATED_BY_COMMAS,
      description: `${description} Several values are separated by commas, at most ${max}.`,
      example: [`${prefix}_01h455vb4pex5vsknk084sn02q`],
    }),
    HasNoRepeats(),
    IsIdOf(prefix, { each: true }),
    ArrayMaxSize(max),
    ...listOfText(),
  );
}

export function DecimalField(description: string, options?: FieldOptions): PropertyDecorator {
  return Field(textOf(DECIMAL_TEXT), [IsDecimal()], description, options);
}

export function MinorUnitsField(
  min: 0 | 1,
  description: string,
  options?: FieldOptions,
): PropertyDecorator {
  const schema = { type: 'integer', minimum: min, maximum: Number.MAX_SAFE_INTEGER } as const;
  return Field(schema, [IsMinorUnits(min)], description, options);
}

export function IntegerField(
  description: string,
  { min, max, ...options }: Required<TextLimits> & FieldOptions,
): PropertyDecorator {
  const schema = { type: 'integer', minimum: min, maximum: max } as const;
  return Field(schema, [IsInt(), IsAtLeast(min), IsAtMost(max)], description, options);
}

export function BooleanField(description: string, options?: FieldOptions): PropertyDecorator {
  return Field({ type: Boolean }, [IsBoolean()], description, options);
}

export function InstantField(
  description: string,
  { years, ...options }: FieldOptions & { readonly years?: YearRange } = {},
): PropertyDecorator {
  return Field({ type: String, format: 'date-time' }, [IsInstant(years)], description, options);
}

export function FromField(what: string): PropertyDecorator {
  return InstantField(`Lower limit of the instant ${what}, inclusive.`, { optional: true });
}

export function ToField(what: string): PropertyDecorator {
  return InstantField(`Upper limit of the instant ${what}, exclusive.`, { optional: true });
}

export function SortField(columns: readonly string[]): PropertyDecorator {
  return EnumField(
    columns.flatMap((column) => [column, `-${column}`]),
    'Order, ascending, or descending after a minus sign. Leaves out objects without a value. Omit it for the newest first.',
    { optional: true },
  );
}

export function CurrencyField(description: string, options?: FieldOptions): PropertyDecorator {
  return Field(textOf(CURRENCY_TEXT), [IsCurrency()], description, options);
}

export function CountryField(description: string, options?: FieldOptions): PropertyDecorator {
  return Field(textOf(COUNTRY_TEXT), [IsCountry()], description, options);
}

export function TimeZoneField(description: string, options?: FieldOptions): PropertyDecorator {
  return Field(textOf(TIME_ZONE_TEXT), [IsTimeZone()], description, options);
}

/**
 * E-mail address. Its schema has no `format`, because `email` allows only ASCII, and few validators know `idn-email`.
 */
export function EmailField(
  description: string,
  { max, ...options }: { readonly max: number } & FieldOptions,
): PropertyDecorator {
  const rules = [IsEmail({}, { message: 'must be an e-mail address' }), IsText(1, max)];
  const rule = 'Letters of any script; the top-level domain has at least two.';
  return Field({ type: String, maxLength: max }, rules, `${description} ${rule}`, options);
}

export function NestedField(
  dto: Type<unknown>,
  description: string,
  options?: FieldOptions,
): PropertyDecorator {
  const rules = [IsObject(), ValidateNested(), TransformTo(() => dto)];
  return Field({ type: dto }, rules, description, options);
}

export function NestedListField(
  dto: Type<unknown>,
  description: string,
  options: ListLimits & FieldOptions,
): PropertyDecorator {
  const rules = [IsObject({ each: true }), ValidateNested({ each: true }), TransformTo(() => dto)];
  return listOf({ type: [dto] }, rules, description, options);
}

/** List of ids without duplicates. */
export function IdListField(
  prefix: IdPrefix,
  description: string,
  options: ListLimits & FieldOptions,
): PropertyDecorator {
  const rules = [IsIdOf(prefix, { each: true })];
  return ListField(idOf(prefix), rules, description, { ...options, unique: true });
}

/**
 * List of limited length.
 * @param items schema of each item
 * @param rules decorators that validate the items
 */
export function ListField(
  items: SchemaObject,
  rules: readonly PropertyDecorator[],
  description: string,
  options: ListLimits & FieldOptions,
): PropertyDecorator {
  return listOf({ type: 'array', items }, rules, description, options);
}

function listOf(
  schema: ApiPropertyOptions,
  rules: readonly PropertyDecorator[],
  description: string,
  { min, max, unique, ...options }: ListLimits & FieldOptions,
): PropertyDecorator {
  const limits = {
    ...(min !== undefined && { minItems: min }),
    maxItems: max,
    ...(unique === true && { uniqueItems: true }),
  };
  const sizes = [...(min === undefined ? [] : [ArrayMinSize(min)]), ArrayMaxSize(max)];
  const repeats = unique === true ? [HasNoRepeats()] : [];
  const all = [IsArray(), ...sizes, ...repeats, ...rules];
  return Field({ ...schema, ...limits }, all, description, options);
}

export function MetadataField(): PropertyDecorator {
  const description =
    'Free-form map, at most 50 keys and 16 KiB. An update merges it one level deep: a key replaces the stored value, `null` deletes it, and other keys stay. Key order is not kept.';
  const schema = { type: 'object', additionalProperties: true } as const;
  const options = { optional: true, example: METADATA_EXAMPLE } as const;
  return Field(schema, [IsMetadata()], description, options);
}
