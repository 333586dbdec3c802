import { defineEvents } from '../../platform/outbox';
import { AddonEntitlementDto, toAddonEntitlementDto } from './dto/addon-entitlement.dto';
import { EntitlementGrantDto, toEntitlementGrantDto } from './dto/entitlement-grant.dto';
import { ReachedEntitlementDto, toReachedEntitlementDto } from './dto/reached-entitlement.dto';

const addonEntitlementEvent = defineEvents(AddonEntitlementDto, toAddonEntitlementDto);
const entitlementGrantEvent = defineEvents(EntitlementGrantDto, toEntitlementGrantDto);
const reachedEntitlementEvent = defineEvents(ReachedEntitlementDto, toReachedEntitlementDto);

export const addonEntitlementCreated = addonEntitlementEvent(
  'addon_entitlement.created',
  'An add-on was linked to an entitlement.',
);

export const addonEntitlementUpdated = addonEntitlementEvent(
  'addon_entitlement.updated',
  'The mode, the value or the metadata of an add-on entitlement changed.',
);

export const addonEntitlementDeleted = addonEntitlementEvent(
  'addon_entitlement.deleted',
  'The link of an add-on to an entitlement was deleted. The event shows its last state.',
);

export const granted = entitlementGrantEvent(
  'entitlement.granted',
  'A customer received a grant of an entitlement, beside its subscriptions.',
);

export const grantVoided = entitlementGrantEvent(
  'entitlement.grant_voided',
  'A grant was voided.',
  {
    status: 'voided',
    remaining: null,
    ended_at: '2026-03-01T09:30:00.000Z',
  },
);

export const grantExpired = entitlementGrantEvent('entitlement.grant_expired', 'A grant expired.', {
  status: 'expired',
  remaining: null,
  expires_at: '2026-03-01T09:30:00.000Z',
  ended_at: '2026-03-01T09:30:00.000Z',
});

export const grantLapsed = entitlementGrantEvent(
  'entitlement.grant_lapsed',
  'A grant lapsed: no balance was left after a reset.',
  { status: 'lapsed', remaining: null, ended_at: '2026-03-01T09:30:00.000Z' },
);

export const thresholdReached = reachedEntitlementEvent(
  'entitlement.threshold_reached',
  'The usage of a customer reached a threshold of its limit. Recorded once per threshold and period.',
);

export const limitReached = reachedEntitlementEvent(
  'entitlement.limit_reached',
  'The usage of a customer reached its limit. Recorded once per period.',
  { used: '1000', remaining: '0', percent: 100 },
);
