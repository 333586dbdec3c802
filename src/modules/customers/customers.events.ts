import { defineEvents } from '../../platform/outbox';
import { CustomerDto, toCustomerDto } from './dto/customer.dto';

const customerEvent = defineEvents(CustomerDto, toCustomerDto);

export const customerCreated = customerEvent('customer.created', 'A customer was created.');

export const customerUpdated = customerEvent(
  'customer.updated',
  'A customer was changed, or its first amount fixed its currency.',
);

export const customerDeleted = customerEvent(
  'customer.deleted',
  'A customer was deleted. The event contains its last state.',
);
