import { defineEvent } from '../../platform/outbox';
import { CustomerDto, toCustomerDto } from './dto/customer.dto';

export const customerCreated = defineEvent({
  type: 'customer.created',
  meaning: 'A customer was created.',
  dto: CustomerDto,
  toDto: toCustomerDto,
});

export const customerUpdated = defineEvent({
  type: 'customer.updated',
  meaning: 'A customer was changed, or its first amount fixed its currency.',
  dto: CustomerDto,
  toDto: toCustomerDto,
});

export const customerDeleted = defineEvent({
  type: 'customer.deleted',
  meaning: 'A customer was deleted. The event contains its last state.',
  dto: CustomerDto,
  toDto: toCustomerDto,
});
