import { post } from './requests';
import type { TestApp } from './test-app';

let made = 0;

export interface CreatedCoupon {
  readonly id: string;
  readonly code: string;
}

/** The redemption of a coupon as the API shows it. */
export interface Redemption {
  readonly id: string;
  readonly ends_at: string | null;
  readonly ended_at: string | null;
  readonly removed_at: string | null;
  readonly remaining_amount: number | null;
  readonly applied_amount: number;
}

/** Creates a coupon with a unique code. */
export async function createCoupon(engine: TestApp, terms: object): Promise<CreatedCoupon> {
  made += 1;
  const code = `COUPON${made}`;
  const { id } = await post(engine, '/v1/coupons', { code, ...terms });
  return { id, code };
}

/** Returns the last redemption of a coupon; fails the test if there is none. */
export async function redemptionOf(engine: TestApp, couponId: string): Promise<Redemption> {
  const { body } = await engine.http.get(`/v1/coupons/${couponId}/redemptions`);
  const [found] = (body as { data: readonly Redemption[] }).data;
  if (found === undefined) throw new Error(`The coupon ${couponId} is not redeemed.`);
  return found;
}
