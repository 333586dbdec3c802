import { defineEvent } from '../../platform/outbox';
import { AddonEntitlementDto, toAddonEntitlementDto } from './dto/addon-entitlement.dto';
import { EntitlementDto, toEntitlementDto } from './dto/entitlement.dto';

export const entitlementCreated = defineEvent({
  type: 'entitlement.created',
  meaning: 'An entitlement was created.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});

export const entitlementUpdated = defineEvent({
  type: 'entitlement.updated',
  meaning: 'The name, the unit or the metadata of an entitlement changed.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});

export const entitlementDeleted = defineEvent({
  type: 'entitlement.deleted',
  meaning: 'An entitlement was deleted; the event shows it as it was last.',
  dto: EntitlementDto,
  toDto: toEntitlementDto,
});

export const addonEntitlementCreated = defineEvent({
  type: 'addon_entitlement.created',
  meaning: 'An add-on was linked to an entitlement.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});

export const addonEntitlementUpdated = defineEvent({
  type: 'addon_entitlement.updated',
  meaning: 'The mode, the value or the metadata of a link changed.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});

export const addonEntitlementDeleted = defineEvent({
  type: 'addon_entitlement.deleted',
  meaning:
    'The link of an add-on to an entitlement was deleted; the event shows it as it was last.',
  dto: AddonEntitlementDto,
  toDto: toAddonEntitlementDto,
});
