import { type ReactNode, useState } from 'react';
import type { ChangeRequest } from '../api/client';
import type { Cancellation, Change, Subscription } from '../api/objects';
import { planOption, useOfferedPlans } from '../api/offered';
import { showInstant } from '../format/text';
import { CheckInput, SelectInput, TextInput } from '../ui/field';
import { Loaded } from '../ui/loaded';
import css from '../ui/ui.module.css';
import { SubscriptionCommandDialog } from './invoice-preview';

const QUANTITY = /^\d+(\.\d{1,12})?$/;

/** Returns what is wrong with a quantity; null if it can be sent. */
export const quantityFault = (text: string): string | null =>
  QUANTITY.test(text) ? null : 'Write a number.';

export interface SubscriptionDialogProps {
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

export function ChangeDialog({ subscription, onClose }: SubscriptionDialogProps): ReactNode {
  // Stays the same while the dialog is open, so that a request without a clear answer can be repeated unchanged.
  const [opened] = useState(subscription);
  const { id, currency } = opened;
  const plans = useOfferedPlans();
  const [planId, setPlanId] = useState(opened.plan_id);
  const [quantity, setQuantity] = useState(opened.quantity);
  const [when, setWhen] = useState<Change['when']>('now');
  const offered = (plans.data?.rows ?? []).filter((plan) => plan.currency === currency);
  const fault = quantityFault(quantity);
  const request = (present: Subscription): ChangeRequest | null => {
    /** True if a value differs from the subscription as it was when the dialog opened, or as it is now. */
    const isOther = (name: 'plan_id' | 'quantity', value: string): boolean =>
      value !== opened[name] || value !== present[name];
    if (fault !== null || !(isOther('plan_id', planId) || isOther('quantity', quantity)))
      return null;
    const body = {
      when,
      ...(isOther('plan_id', planId) && { plan_id: planId }),
      // Always sent, so that what was shown is done, whatever somebody else has set meanwhile.
      quantity,
    } satisfies Change;
    return { method: 'POST', path: `/v1/subscriptions/${id}/change`, body };
  };
  return (
    <SubscriptionCommandDialog
      title="Change the subscription"
      submitLabel="Confirm the change"
      sellsPlan
      subscription={opened}
      request={request}
      differences={(present) => {
        const hasOtherPlan = present.plan_id !== opened.plan_id;
        if (!hasOtherPlan && present.quantity === opened.quantity) return '';
        return ` Its quantity is now ${present.quantity}${hasOtherPlan ? ', and it has another plan' : ''}.`;
      }}
      done={() => (when === 'now' ? 'Changed.' : 'The change is scheduled.')}
      onClose={onClose}
    >
      {(present) => (
        <>
          <Loaded query={plans}>
            {({ limit }) => (
              <SelectInput
                label="Plan"
                hint={`Plans in ${currency}. ${limit ?? ''}`}
                value={planId}
                options={[
                  // Archived, or older than the plans that were read.
                  ...(offered.some((plan) => plan.id === opened.plan_id)
                    ? []
                    : [[opened.plan_id, 'The present plan'] as const]),
                  ...offered.map(planOption),
                ]}
                onChange={setPlanId}
              />
            )}
          </Loaded>
          <TextInput
            label="Quantity"
            inputMode="decimal"
            value={quantity}
            fault={fault}
            onChange={setQuantity}
          />
          <SelectInput
            label="When"
            value={when}
            options={[
              ['now', 'Now, prorated as the plan says'],
              ['period_end', 'At the end of the period'],
            ]}
            onChange={(value) => setWhen(value as Change['when'])}
          />
          {request(present) === null && (
            <p className={css['hint']}>Choose another plan or quantity.</p>
          )}
        </>
      )}
    </SubscriptionCommandDialog>
  );
}

export interface Command {
  readonly path: 'pause' | 'resume' | 'uncancel';
  readonly label: string;
  readonly explains: (present: Subscription) => string;
}

export function CommandDialog({
  subscription,
  command: { path, label, explains },
  onClose,
}: SubscriptionDialogProps & { readonly command: Command }): ReactNode {
  return (
    <SubscriptionCommandDialog
      title={`${label} the subscription`}
      submitLabel={label}
      subscription={subscription}
      request={({ id }) => ({ method: 'POST', path: `/v1/subscriptions/${id}/${path}` })}
      done={() => `Done: ${label.toLowerCase()}.`}
      onClose={onClose}
    >
      {(present) => <p>{explains(present)}</p>}
    </SubscriptionCommandDialog>
  );
}

export function CancelDialog({
  subscription,
  isPending,
  onClose,
}: SubscriptionDialogProps & {
  /** True if a change or a cancellation is scheduled already. */
  readonly isPending: boolean;
}): ReactNode {
  const [canEndLater] = useState(!isPending && subscription.status !== 'incomplete');
  const [when, setWhen] = useState<'now' | 'period_end'>(canEndLater ? 'period_end' : 'now');
  const [creditsUnused, setCreditsUnused] = useState(false);
  const body: Cancellation = { when, ...(when === 'now' && { credit_unused: creditsUnused }) };
  return (
    <SubscriptionCommandDialog<Subscription>
      title="Cancel the subscription"
      submitLabel="Cancel the subscription"
      kind="danger"
      subscription={subscription}
      request={({ id }) => ({ method: 'POST', path: `/v1/subscriptions/${id}/cancel`, body })}
      done={({ cancel_at }) =>
        when === 'now' ? 'Canceled.' : `Ends at ${showInstant(cancel_at)}.`
      }
      onClose={onClose}
    >
      {({ current_period_end }) => (
        <>
          <SelectInput
            label="When"
            value={when}
            options={[
              ...(canEndLater
                ? [
                    [
                      'period_end',
                      `At the end of the period, ${showInstant(current_period_end)}`,
                    ] as const,
                  ]
                : []),
              ['now', 'Now'],
            ]}
            onChange={(value) => setWhen(value as typeof when)}
          />
          {isPending && (
            <p className={css['hint']}>
              Something is scheduled already. Undo it to cancel at the end of the period.
            </p>
          )}
          {when === 'now' && (
            <CheckInput
              label="Credit the unused part of what was billed in advance"
              isChecked={creditsUnused}
              onChange={setCreditsUnused}
            />
          )}
        </>
      )}
    </SubscriptionCommandDialog>
  );
}
