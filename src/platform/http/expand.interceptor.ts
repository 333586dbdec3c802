import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import type { Request } from 'express';
import { mergeMap, type Observable } from 'rxjs';
import type { Scope } from '../../core/access';
import { principalOf, requireScope } from '../access';
import type { PageDto } from './list';

type Item = Readonly<Record<string, unknown>>;

/** If `expand` contains {@link name}, adds the referenced objects to the items of a page. Reads them with one query. */
export abstract class ExpandInterceptor implements NestInterceptor<PageDto<Item>, PageDto<Item>> {
  /**
   * Value of `expand`, and name of the added field, such as `customer`. The item has the id of the object in
   * `<name>_id`, such as `customer_id`.
   */
  protected abstract readonly name: string;
  /** Scope that the caller needs in addition to that of the list. */
  protected abstract readonly scope: Scope;

  /** Returns the objects by id, as they are added to the items. Objects that do not exist are missing from the map. */
  protected abstract read(ids: readonly string[]): Promise<ReadonlyMap<string, object>>;

  intercept(
    context: ExecutionContext,
    next: CallHandler<PageDto<Item>>,
  ): Observable<PageDto<Item>> {
    const request = context.switchToHttp().getRequest<Request>();
    const { expand } = request.query;
    if (typeof expand !== 'string' || !expand.split(',').includes(this.name)) return next.handle();
    requireScope(principalOf(request), this.scope);
    // The handler refuses unknown values of `expand` before anything is added.
    return next.handle().pipe(mergeMap((page) => this.expand(page)));
  }

  private async expand(page: PageDto<Item>): Promise<PageDto<Item>> {
    if (page.data.length === 0) return page;
    const idOf = (item: Item): string => String(item[`${this.name}_id`]);
    const found = await this.read([...new Set(page.data.map(idOf))]);
    const data = page.data.map((item) => {
      const object = found.get(idOf(item));
      return object === undefined ? item : { ...item, [this.name]: object };
    });
    return { ...page, data };
  }
}

/** Returns a class with the fields of both classes. In the OpenAPI document, the class is called `name`. */
export function withFields<Item extends object, Fields extends object>(
  item: Type<Item>,
  fields: Type<Fields>,
  name: string,
): Type<Item & Fields> {
  const expanded = IntersectionType(item, fields) as Type<Item & Fields>;
  Object.defineProperty(expanded, 'name', { value: name });
  return expanded;
}
