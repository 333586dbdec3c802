import { defineProblem } from '../../platform/errors';
import { MOST_LINKS_OF_AN_ADDON } from './domain/addon-entitlement';
import { MOST_GRANTS } from './domain/grant-terms';
import type { TermsFault } from './domain/entitlement';

const describeFaults = (faults: readonly TermsFault[]) => ({
  detail: faults.map(({ pointer, message }) => `${pointer} ${message}`).join('; '),
  errors: faults.map((fault) => ({ ...fault, code: 'contradiction' })),
});

export const entitlementNotFound = defineProblem(
  {
    code: 'entitlement_not_found',
    kind: 'not_found',
    title: 'There is no such entitlement',
    meaning: 'The id in the path is not the id of an entitlement.',
  },
  (id: string) => ({ detail: `There is no entitlement ${JSON.stringify(id)}.` }),
);

export const entitlementKeyTaken = defineProblem(
  {
    code: 'entitlement_key_taken',
    kind: 'conflict',
    title: 'The key belongs to another entitlement',
    meaning: 'Keys are unique. Choose another.',
  },
  (key: string) => ({ detail: `There already is an entitlement with the key ${key}.` }),
);

export const entitlementTermsContradict = defineProblem(
  {
    code: 'entitlement_terms_contradict',
    kind: 'rule_broken',
    title: 'The terms of the entitlement contradict each other',
    meaning: 'A `meter_id` goes with the type `metered` alone.',
  },
  describeFaults,
);

export const entitlementInUse = defineProblem(
  {
    code: 'entitlement_in_use',
    kind: 'conflict',
    title: 'The entitlement is linked',
    meaning: 'An add-on still brings the entitlement. Delete its links first.',
  },
  (id: string) => ({ detail: `The entitlement ${id} is linked and cannot be deleted.` }),
);

export const addonEntitlementNotFound = defineProblem(
  {
    code: 'addon_entitlement_not_found',
    kind: 'not_found',
    title: 'There is no such link of an add-on and an entitlement',
    meaning: 'The id in the path is not the id of an add-on entitlement.',
  },
  (id: string) => ({ detail: `There is no add-on entitlement ${JSON.stringify(id)}.` }),
);

export const addonEntitlementExists = defineProblem(
  {
    code: 'addon_entitlement_exists',
    kind: 'conflict',
    title: 'The add-on brings the entitlement already',
    meaning: 'An add-on and an entitlement are linked at most once. Update the link there is.',
  },
  (addonId: string, entitlementId: string) => ({
    detail: `The add-on ${addonId} is linked to the entitlement ${entitlementId} already.`,
  }),
);

export const addonEntitlementValueContradicts = defineProblem(
  {
    code: 'addon_entitlement_value_contradicts',
    kind: 'rule_broken',
    title: 'The link contradicts the type of its entitlement',
    meaning:
      'A `static` or `metered` entitlement needs a `value`; a `boolean` one takes none, and no mode but `set`.',
  },
  describeFaults,
);

export const tooManyAddonEntitlements = defineProblem(
  {
    code: 'too_many_addon_entitlements',
    kind: 'rule_broken',
    title: 'The add-on brings too many entitlements',
    meaning: `An add-on can be linked to ${MOST_LINKS_OF_AN_ADDON} entitlements.`,
  },
  (addonId: string) => ({
    detail: `The add-on ${addonId} is linked to ${MOST_LINKS_OF_AN_ADDON} entitlements already.`,
    extensions: { limit: MOST_LINKS_OF_AN_ADDON },
  }),
);

export const entitlementKeyNotFound = defineProblem(
  {
    code: 'entitlement_key_not_found',
    kind: 'not_found',
    title: 'There is no entitlement with this key',
    meaning:
      'The key in the path is not that of an entitlement. A customer who lacks one that there is gets an answer without access.',
  },
  (key: string) => ({
    detail: `There is no entitlement with the key ${JSON.stringify(key.slice(0, 100))}.`,
  }),
);

export const entitlementNotMetered = defineProblem(
  {
    code: 'entitlement_not_metered',
    kind: 'rule_broken',
    title: 'Only metered entitlements can be consumed',
    meaning: 'The entitlement is `boolean` or `static`: nothing of it is used up.',
  },
  (key: string) => ({ detail: `The entitlement ${key} is not metered.` }),
);

export const grantNotFound = defineProblem(
  {
    code: 'entitlement_grant_not_found',
    kind: 'not_found',
    title: 'There is no such grant',
    meaning: 'The id in the path is not that of a grant of this entitlement to this customer.',
  },
  (id: string) => ({ detail: `There is no grant ${JSON.stringify(id)}.` }),
);

export const grantContradicts = defineProblem(
  {
    code: 'grant_contradicts',
    kind: 'rule_broken',
    title: 'The grant contradicts its entitlement or itself',
    meaning:
      'A `boolean` entitlement takes no `value`, every other one needs a positive one; `rollover` is for metered ones alone, its `min` at most its `max`; `expires_at` lies in the future.',
  },
  describeFaults,
);

export const tooManyGrants = defineProblem(
  {
    code: 'too_many_grants',
    kind: 'rule_broken',
    title: 'The customer has too many grants of the entitlement',
    meaning: `A customer can have ${MOST_GRANTS} grants of one entitlement that have not ended.`,
  },
  (key: string) => ({
    detail: `The customer has ${MOST_GRANTS} grants of ${key} already.`,
    extensions: { limit: MOST_GRANTS },
  }),
);

export const entitlementNotConsumable = defineProblem(
  {
    code: 'entitlement_not_consumable',
    kind: 'rule_broken',
    title: 'The meter of the entitlement cannot count this quantity',
    meaning:
      'What is consumed becomes an event of the meter. A `sum` takes any quantity, a `count` takes 1; for other meters send usage events.',
  },
  (key: string, meter: string) => ({
    detail: `The meter ${meter} of the entitlement ${key} cannot count this quantity.`,
  }),
);

export const consumptionRefused = defineProblem(
  {
    code: 'consumption_refused',
    kind: 'conflict',
    title: 'The usage event of the consumption was refused',
    meaning:
      'What is consumed becomes an event of the meter, which refused it: `reason` says why, as for usage events. Nothing was counted.',
  },
  (reason: string, message: string) => ({ detail: message, extensions: { reason } }),
);
