import { defineContradiction, defineProblem } from '../../platform/errors';

export const entitlementNotFound = defineProblem({
  code: 'entitlement_not_found',
  kind: 'not_found',
  title: 'Entitlement not found',
  meaning: 'No entitlement has the id in the path.',
  detail: (id: string) => `No entitlement has the id ${JSON.stringify(id)}.`,
});

export const entitlementKeyTaken = defineProblem({
  code: 'entitlement_key_taken',
  kind: 'conflict',
  title: 'The key is already used by another entitlement',
  meaning: 'Keys of entitlements are unique. Choose another key.',
  detail: (key: string) => `An entitlement with the key ${key} exists already. Choose another key.`,
});

export const entitlementTermsContradict = defineContradiction({
  code: 'entitlement_terms_contradict',
  title: 'The terms of the entitlement contradict each other',
  meaning: 'Only entitlements of type `metered` can have a `meter_id` or `thresholds`.',
});

export const entitlementInUse = defineProblem({
  code: 'entitlement_in_use',
  kind: 'conflict',
  title: 'The entitlement is in use',
  meaning:
    'A plan, an add-on link, a grant or a consumption refers to the entitlement. Only links can be deleted.',
  detail: (id: string) =>
    `The entitlement ${id} cannot be deleted: a plan, an add-on link, a grant or a consumption refers to it.`,
});
