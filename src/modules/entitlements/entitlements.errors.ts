import { defineContradiction, defineProblem } from '../../platform/errors';
import { MAX_LINKS_PER_ADDON } from './domain/addon-entitlement';
import { MAX_GRANTS } from './domain/grant-terms';

export const addonEntitlementNotFound = defineProblem({
  code: 'addon_entitlement_not_found',
  kind: 'not_found',
  title: 'Add-on entitlement not found',
  meaning: 'No add-on entitlement has the id in the path.',
  detail: (id: string) => `No add-on entitlement has the id ${JSON.stringify(id)}.`,
});

export const addonEntitlementExists = defineProblem({
  code: 'addon_entitlement_exists',
  kind: 'conflict',
  title: 'The add-on is already linked to the entitlement',
  meaning: 'An add-on can be linked to an entitlement once. Update the existing link.',
  detail: (addonId: string, entitlementId: string) =>
    `The add-on ${addonId} is already linked to the entitlement ${entitlementId}. Update that link.`,
});

export const addonEntitlementValueContradicts = defineContradiction({
  code: 'addon_entitlement_value_contradicts',
  title: 'The link contradicts the type of its entitlement',
  meaning:
    'A link to a `static` or `metered` entitlement needs a `value`. A link to a `boolean` one has no `value`, and its mode is `set`.',
});

export const tooManyAddonEntitlements = defineProblem({
  code: 'too_many_addon_entitlements',
  kind: 'rule_broken',
  title: 'The add-on has too many entitlements',
  meaning: `An add-on can be linked to at most ${MAX_LINKS_PER_ADDON} entitlements.`,
  occurrence: (addonId: string) => ({
    detail: `The add-on ${addonId} is already linked to ${MAX_LINKS_PER_ADDON} entitlements, the maximum. Delete a link first.`,
    extensions: { limit: MAX_LINKS_PER_ADDON },
  }),
});

export const entitlementKeyNotFound = defineProblem({
  code: 'entitlement_key_not_found',
  kind: 'not_found',
  title: 'No entitlement has this key',
  meaning:
    'No entitlement has the key in the path. If the entitlement exists but the customer does not have it, the answer has `has_access: false`.',
  detail: (key: string) => `No entitlement has the key ${JSON.stringify(key.slice(0, 100))}.`,
});

export const entitlementNotMetered = defineProblem({
  code: 'entitlement_not_metered',
  kind: 'rule_broken',
  title: 'Only metered entitlements can be consumed',
  meaning: 'The entitlement is `boolean` or `static` and has no usage.',
  detail: (key: string) =>
    `The entitlement ${key} is not metered and cannot be consumed. Check its access instead.`,
});

export const grantNotFound = defineProblem({
  code: 'entitlement_grant_not_found',
  kind: 'not_found',
  title: 'Grant not found',
  meaning: 'The customer has no grant of this entitlement with the id in the path.',
  detail: (id: string) => `The customer has no grant ${JSON.stringify(id)} of this entitlement.`,
});

export const grantContradicts = defineContradiction({
  code: 'grant_contradicts',
  title: 'The grant contradicts its entitlement or itself',
  meaning:
    'A grant of a `boolean` entitlement has no `value`; other grants need a positive one. Only grants of `metered` entitlements have a `rollover`, with `min` at most `max`. `expires_at` must be in the future.',
});

export const tooManyGrants = defineProblem({
  code: 'too_many_grants',
  kind: 'rule_broken',
  title: 'The customer has too many grants of the entitlement',
  meaning: `A customer can have at most ${MAX_GRANTS} active grants of one entitlement.`,
  occurrence: (key: string) => ({
    detail: `The customer already has ${MAX_GRANTS} active grants of ${key}, the maximum. Void one first.`,
    extensions: { limit: MAX_GRANTS },
  }),
});

export const entitlementNotConsumable = defineProblem({
  code: 'entitlement_not_consumable',
  kind: 'rule_broken',
  title: 'The meter of the entitlement cannot count this quantity',
  meaning:
    'A consumption is stored as a usage event of the meter. A `sum` meter takes any quantity, a `count` meter takes 1. Other meters take none: send usage events.',
  detail: (key: string, meter: string) =>
    `The meter ${meter} of the entitlement ${key} cannot count this quantity. Send usage events instead.`,
});

export const consumptionRefused = defineProblem({
  code: 'consumption_refused',
  kind: 'conflict',
  title: 'The usage event of the consumption was refused',
  meaning:
    'A consumption is stored as a usage event of the meter, and that event was rejected. `reason` is the rejection code of usage events. Nothing was counted.',
  occurrence: (reason: string, message: string) => ({ detail: message, extensions: { reason } }),
});
