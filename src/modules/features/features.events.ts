import { defineEvents } from '../../platform/outbox';
import { EntitlementDto, toEntitlementDto } from './dto/entitlement.dto';

const entitlementEvent = defineEvents(EntitlementDto, toEntitlementDto);

export const entitlementCreated = entitlementEvent(
  'entitlement.created',
  'An entitlement was created.',
);

export const entitlementUpdated = entitlementEvent(
  'entitlement.updated',
  'The name, the unit, the thresholds or the metadata of an entitlement changed.',
);

export const entitlementDeleted = entitlementEvent(
  'entitlement.deleted',
  'An entitlement was deleted. The event shows its last state.',
);
