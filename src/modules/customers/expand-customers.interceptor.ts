import { applyDecorators, Injectable, UseInterceptors } from '@nestjs/common';
import { ExpandInterceptor } from '../../platform/http';
import { CustomersService } from './customers.service';

@Injectable()
class ExpandCustomersInterceptor extends ExpandInterceptor {
  protected override readonly name = 'customer';
  protected override readonly scope = 'customers:read';

  constructor(private readonly customers: CustomersService) {
    super();
  }

  protected override async read(ids: readonly string[]): Promise<ReadonlyMap<string, object>> {
    const found = [...(await this.customers.getAllForHistory(ids)).values()];
    return new Map(
      found.map(({ id, name, email, deletedAt }) => [
        id,
        { id, name, email, is_deleted: deletedAt !== null },
      ]),
    );
  }
}

/**
 * Supports `expand=customer` on a list: each item then also contains its customer. The module of the controller must
 * import `CustomersModule`.
 */
export const ExpandsCustomers = (): MethodDecorator =>
  applyDecorators(UseInterceptors(ExpandCustomersInterceptor));
