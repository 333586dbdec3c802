import { applyDecorators, type Type } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, MaxLength } from 'class-validator';
import type { AmountRange } from '../../core/money';
import type { InstantRange } from '../../core/time';
import type { Page, PageRequest } from '../database';
import { invalidCursor, validationFailed } from '../errors';
import { type IdPrefix, isId } from '../ids';
import { IsMinorUnits } from './field-rules';
import { Field, IntegerField } from './fields';
import { NestedListProperty, TextProperty } from './properties';

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 20;
/** Enough for an id and the longest value of a sorted list: a name of 200 characters of 4 bytes, in base64. */
const MAX_CURSOR_LENGTH = 1_200;

/** Converts a decimal number from text. Other text stays unchanged, and fails validation. */
function toNumber({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

export function LimitField(
  description: string,
  options: { readonly max: number; readonly default: number },
): PropertyDecorator {
  return applyDecorators(
    Transform(toNumber),
    IntegerField(description, { min: 1, optional: true, ...options }),
  );
}

export function toInstantRange(from: string | undefined, to: string | undefined): InstantRange {
  return { from: toInstant(from), to: toInstant(to) };
}

export function toInstant(text: string | null | undefined): Date | null {
  return typeof text === 'string' ? new Date(text) : null;
}

export function MinAmountField(what: string): PropertyDecorator {
  return AmountField(`Least ${what}`);
}

export function MaxAmountField(what: string): PropertyDecorator {
  return AmountField(`Largest ${what}`);
}

function AmountField(what: string): PropertyDecorator {
  return applyDecorators(
    Transform(toMinorUnits),
    Field(
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      [IsMinorUnits(Number.MIN_SAFE_INTEGER)],
      `${what}, inclusive, in minor units. Needs \`currency\`.`,
      { optional: true, example: 5_000 },
    ),
  );
}

function toMinorUnits({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
}

/**
 * Returns the range of the optional query parameters `<name>_min` and `<name>_max`.
 * @throws {ProblemError} `validation_failed` if no currency is given, because amounts of different currencies cannot be
 *   compared, or if `<name>_min` is more than `<name>_max`
 */
export function toAmountRange(
  name: 'amount' | 'total',
  currency: string | undefined,
  min: number | undefined,
  max: number | undefined,
): AmountRange {
  if (currency === undefined && (min !== undefined || max !== undefined)) {
    const message = `is required with \`${name}_min\` and \`${name}_max\``;
    throw validationFailed([{ pointer: '/currency', code: 'missing', message }]);
  }
  if (min !== undefined && max !== undefined && min > max) {
    const message = `must not be more than \`${name}_max\``;
    throw validationFailed([{ pointer: `/${name}_min`, code: 'contradiction', message }]);
  }
  return { min: toMinor(min), max: toMinor(max) };
}

function toMinor(amount: number | undefined): bigint | null {
  return amount === undefined ? null : BigInt(amount);
}

/**
 * Returns the statuses by which a list is filtered; null if the request names none. If the request also has another
 * filter, leaves out the statuses that the other filter can never find. Example: a filter by failure code leaves out
 * `succeeded`.
 * @param isFiltered true if the request has the other filter
 * @param matched statuses of the rows that the other filter can find
 */
export function possibleStatuses<Status extends string>(
  statuses: readonly Status[] | undefined,
  isFiltered: boolean,
  matched: readonly Status[],
): readonly Status[] | null {
  if (!isFiltered) return statuses ?? null;
  return statuses?.filter((status) => matched.includes(status)) ?? null;
}

export class ListQueryDto {
  @LimitField('Maximum number of items on the page.', {
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
  })
  readonly limit?: number;
  @Field(
    { type: String, maxLength: MAX_CURSOR_LENGTH },
    [IsString(), MaxLength(MAX_CURSOR_LENGTH)],
    '`next_cursor` of the previous page. Omit it for the first page.',
    { optional: true },
  )
  readonly cursor?: string;
}

/** Returns a class with the fields of {@link ListQueryDto} and those of the filter. */
export function WithPaging<Filter extends object>(
  filter: Type<Filter>,
): Type<Filter & ListQueryDto> {
  return IntersectionType(ListQueryDto, filter) as Type<Filter & ListQueryDto>;
}

/**
 * Returns the page request of a list whose cursors begin with an id.
 * @throws {ProblemError} `invalid_cursor` if the cursor does not begin with an id with this prefix
 */
export function toPageRequest(query: ListQueryDto, prefix: IdPrefix): PageRequest {
  const request = toOpaquePageRequest(query);
  const [id = ''] = (request.after ?? '').split(' ', 1);
  if (request.after !== null && !isId(prefix, id)) throw invalidCursor();
  return request;
}

/**
 * Returns the page request of a list whose cursors do not begin with an id. The code that reads the list must validate
 * the cursors.
 * @throws {ProblemError} `invalid_cursor` if the cursor contains a NUL character
 */
export function toOpaquePageRequest(query: ListQueryDto): PageRequest {
  const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
  return { limit, after: cursor === undefined ? null : decodeCursor(cursor) };
}

/** Refuses a NUL character, because PostgreSQL cannot store it in text. */
function decodeCursor(cursor: string): string {
  const after = Buffer.from(cursor, 'base64url').toString();
  if (after.includes('\0')) throw invalidCursor();
  return after;
}

export interface PageDto<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

export function toPageDto<Item, ItemDto>(
  page: Page<Item>,
  toDto: (item: Item) => ItemDto,
): PageDto<ItemDto> {
  return {
    data: page.items.map(toDto),
    next_cursor: page.next === null ? null : Buffer.from(page.next).toString('base64url'),
  };
}

const ITEMS = new WeakMap<Type<unknown>, Type<unknown>>();

/** Returns the item class of a page class that {@link pageOf} made; null for any other class. */
export function itemOf(page: Type<unknown> | undefined): Type<unknown> | null {
  return page === undefined ? null : (ITEMS.get(page) ?? null);
}

/** Returns the OpenAPI class of a page of these items. */
export function pageOf<Item>(item: Type<Item>): Type<PageDto<Item>> {
  class ItemPageDto implements PageDto<Item> {
    @NestedListProperty(item, 'The items of this page, newest first.')
    readonly data!: readonly Item[];
    @TextProperty('Pass it as `cursor` for the next page; null on the last one.', null, {
      nullable: true,
    })
    readonly next_cursor!: string | null;
  }
  Object.defineProperty(ItemPageDto, 'name', { value: item.name.replace(/Dto$/, 'PageDto') });
  ITEMS.set(ItemPageDto, item);
  return ItemPageDto;
}
