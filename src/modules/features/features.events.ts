import { defineEvent } from '../../platform/outbox';
import { EntitlementDto, toEntitlementDto } from './dto/entitlement.dto';

export const entitlementCreated = defineEvent({
  type: 'entitlement.created',
  meaning: 'An entitlement was created.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});

export const entitlementUpdated = defineEvent({
  type: 'entitlement.updated',
  meaning: 'The name, the unit, the thresholds or the metadata of an entitlement changed.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});

export const entitlementDeleted = defineEvent({
  type: 'entitlement.deleted',
  meaning: 'An entitlement was deleted. The event shows its last state.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});
