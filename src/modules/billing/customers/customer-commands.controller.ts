import { Controller, Delete, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { IdPipe, IfMatch, Operation } from '../../../platform/http';
import { customerNotFound } from '../../customers';
import { DeleteCustomerWorkflow } from './delete-customer.workflow';

const customerId = new IdPipe('cus', customerNotFound);

@ApiTags('Customers')
@Controller('v1/customers')
export class CustomerCommandsController {
  constructor(private readonly deleteCustomerWorkflow: DeleteCustomerWorkflow) {}

  @Delete(':id')
  @Operation({
    summary: 'Delete a customer',
    description:
      'The customer is no longer returned and its `external_id` is free again. Subscriptions end when they fall due, and bill nothing more. Other objects stay.',
    access: 'customers:write',
    problems: [customerNotFound],
  })
  async deleteCustomer(
    @Param('id', customerId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.deleteCustomerWorkflow.delete(id, expected);
  }
}
