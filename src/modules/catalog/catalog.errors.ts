import { defineContradiction, defineNotFound, defineProblem } from '../../platform/errors';

export const addonNotFound = defineNotFound(
  'addon_not_found',
  'an add-on',
  'the add-on was archived',
);

export const addonCodeTaken = defineProblem({
  code: 'addon_code_taken',
  kind: 'conflict',
  title: 'The code belongs to another add-on',
  meaning: 'Codes are unique, archived add-ons included. Choose another code.',
  detail: (code: string) =>
    `An add-on with the code ${JSON.stringify(code)} already exists. Choose another code.`,
});

export const planNotFound = defineNotFound('plan_not_found', 'a plan', 'the plan was archived');

export const planCodeTaken = defineProblem({
  code: 'plan_code_taken',
  kind: 'conflict',
  title: 'The code belongs to another plan',
  meaning: 'Codes are unique, archived plans included. Choose another code.',
  detail: (code: string) =>
    `A plan with the code ${JSON.stringify(code)} already exists. Choose another code.`,
});

export const planEntitlementContradicts = defineContradiction({
  code: 'plan_entitlement_contradicts',
  title: 'The value of a plan entitlement contradicts its type',
  meaning:
    'A boolean entitlement has no `value`, a static entitlement needs one, and a plan lists each entitlement once.',
});

export const priceTermsContradict = defineContradiction({
  code: 'price_terms_contradict',
  title: 'The terms of a price contradict each other',
  meaning:
    'Each model has its fields: `flat` has `amount`; `per_unit` has `unit_amount`; `graduated` and `volume` have `tiers`, strictly rising, with `up_to` null on the last one only; `package` has `unit_amount`, `package_size` and `free_units`; `percentage` has `rate`, `fixed_amount`, `free_units`, `free_amount`, `event_minimum_amount`, `event_maximum_amount` and a meter. A price with a meter is `in_arrears`, and only such a price is `by_group`; `minimum_amount` is not above `maximum_amount`.',
});
