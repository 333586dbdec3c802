import type { ChangeOf } from '../../../core/next-version';

export interface StudioSettings {
  readonly id: string;
  readonly version: number;
  /**
   * Maximum that admins with the role `support` may refund of one payment, in minor units, by currency. All refunds of
   * the payment count together, including the new refund. In a currency without a maximum, these admins cannot refund.
   */
  readonly supportRefundLimits: ReadonlyMap<string, bigint>;
  /**
   * True if admins who sign in with a password must have a second factor. Until they have a second factor, such admins
   * can do nothing but enrol it.
   */
  readonly secondFactorRequired: boolean;
  readonly updatedAt: Date;
}

/** Id of the only row of the table `studio_settings`. */
export const SETTINGS_ID = 'studio_settings';

export type SettingsChange = ChangeOf<
  StudioSettings,
  'supportRefundLimits' | 'secondFactorRequired'
>;
