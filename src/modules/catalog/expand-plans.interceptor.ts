import { applyDecorators, Injectable, UseInterceptors } from '@nestjs/common';
import { ExpandInterceptor } from '../../platform/http';
import { CatalogService } from './catalog.service';

@Injectable()
class ExpandPlansInterceptor extends ExpandInterceptor {
  protected override readonly name = 'plan';
  protected override readonly scope = 'catalog:read';

  constructor(private readonly catalog: CatalogService) {
    super();
  }

  protected override async read(ids: readonly string[]): Promise<ReadonlyMap<string, object>> {
    const found = await this.catalog.getPlanNames(ids);
    return new Map(
      found.map(({ id, code, name, archivedAt }) => [
        id,
        { id, code, name, is_archived: archivedAt !== null },
      ]),
    );
  }
}

/**
 * Supports `expand=plan` on a list: each item then also contains its plan. The module of the controller must import
 * `CatalogModule`.
 */
export const ExpandsPlans = (): MethodDecorator =>
  applyDecorators(UseInterceptors(ExpandPlansInterceptor));
