import { defineProblem } from '../../platform/errors';
import type { TermsFault } from './domain/coupon';

export const couponNotFound = defineProblem(
  {
    code: 'coupon_not_found',
    kind: 'not_found',
    title: 'There is no such coupon',
    meaning: 'The id in the path is not the id of a coupon.',
  },
  (id: string) => ({ detail: `There is no coupon ${JSON.stringify(id)}.` }),
);

export const couponCodeTaken = defineProblem(
  {
    code: 'coupon_code_taken',
    kind: 'conflict',
    title: 'The code belongs to another coupon',
    meaning:
      'Codes are unique, also among inactive coupons. Choose another, or leave it out to have one made.',
  },
  (code: string) => ({
    detail: `There already is a coupon with the code ${JSON.stringify(code)}.`,
  }),
);

export const couponTermsContradict = defineProblem(
  {
    code: 'coupon_terms_contradict',
    kind: 'rule_broken',
    title: 'The terms of the coupon contradict each other',
    meaning:
      'A coupon takes off either `percent_off`, or `amount_off` of a `currency`; `duration_in_months` goes with the duration `repeating` alone; `redeem_by` lies in the future.',
  },
  (faults: readonly TermsFault[]) => ({
    detail: faults.map(({ pointer, message }) => `${pointer} ${message}`).join('; '),
    errors: faults.map((fault) => ({ ...fault, code: 'contradiction' })),
  }),
);

export const couponInUse = defineProblem(
  {
    code: 'coupon_in_use',
    kind: 'conflict',
    title: 'The coupon was redeemed',
    meaning:
      'A coupon that was redeemed cannot be deleted, only switched off (`is_active: false`).',
  },
  (id: string) => ({ detail: `The coupon ${id} was redeemed and cannot be deleted.` }),
);
