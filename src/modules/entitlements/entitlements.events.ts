import { defineEvent } from '../../platform/outbox';
import { AddonEntitlementDto, toAddonEntitlementDto } from './dto/addon-entitlement.dto';
import { EntitlementGrantDto, toEntitlementGrantDto } from './dto/entitlement-grant.dto';
import { ReachedEntitlementDto, toReachedEntitlementDto } from './dto/reached-entitlement.dto';

export const addonEntitlementCreated = defineEvent({
  type: 'addon_entitlement.created',
  meaning: 'An add-on was linked to an entitlement.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});

export const addonEntitlementUpdated = defineEvent({
  type: 'addon_entitlement.updated',
  meaning: 'The mode, the value or the metadata of an add-on entitlement changed.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});

export const addonEntitlementDeleted = defineEvent({
  type: 'addon_entitlement.deleted',
  meaning: 'The link of an add-on to an entitlement was deleted. The event shows its last state.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});

export const granted = defineEvent({
  type: 'entitlement.granted',
  meaning: 'A customer received a grant of an entitlement, beside its subscriptions.',
  dto: EntitlementGrantDto,
  toDto: toEntitlementGrantDto,
});

export const grantVoided = defineEvent({
  type: 'entitlement.grant_voided',
  meaning: 'A grant was voided.',
  dto: EntitlementGrantDto,
  toDto: toEntitlementGrantDto,
});

export const thresholdReached = defineEvent({
  type: 'entitlement.threshold_reached',
  meaning:
    'The usage of a customer reached a threshold of its limit. Recorded once per threshold and period.',
  dto: ReachedEntitlementDto,
  toDto: toReachedEntitlementDto,
});

export const limitReached = defineEvent({
  type: 'entitlement.limit_reached',
  meaning: 'The usage of a customer reached its limit. Recorded once per period.',
  dto: ReachedEntitlementDto,
  toDto: toReachedEntitlementDto,
  example: { used: '1000', remaining: '0', percent: 100 },
});
