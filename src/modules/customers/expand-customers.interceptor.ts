import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { mergeMap, type Observable } from 'rxjs';
import { principalOf, requireScope } from '../../platform/access';
import type { PageDto } from '../../platform/http';
import { CustomersService } from './customers.service';

type PageOfCustomers = PageDto<{ readonly customer_id: string }>;

/** Adds the customers to the items of a page, with one query, if the request wants them. */
@Injectable()
class ExpandCustomersInterceptor implements NestInterceptor<PageOfCustomers, PageOfCustomers> {
  constructor(private readonly customers: CustomersService) {}

  intercept(
    context: ExecutionContext,
    next: CallHandler<PageOfCustomers>,
  ): Observable<PageOfCustomers> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.query['expand'] === undefined) return next.handle();
    requireScope(principalOf(request), 'customers:read');
    // The handler refuses other values before anything is added.
    return next.handle().pipe(mergeMap((page) => this.expand(page)));
  }

  private async expand(page: PageOfCustomers): Promise<PageOfCustomers> {
    const ids = page.data.map(({ customer_id }) => customer_id);
    const customers = await this.customers.getAllForHistory(ids);
    const data = page.data.map((item) => {
      const customer = customers.get(item.customer_id);
      if (customer === undefined) return item;
      const { id, name, email, deletedAt } = customer;
      return { ...item, customer: { id, name, email, is_deleted: deletedAt !== null } };
    });
    return { ...page, data };
  }
}

/** Lets a list show the customer within each item. Its module imports that of customers. */
export const ExpandsCustomers = (): MethodDecorator =>
  applyDecorators(UseInterceptors(ExpandCustomersInterceptor));
