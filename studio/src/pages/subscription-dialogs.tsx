import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import type { Cancellation, Change, Subscription } from '../api/objects';
import { planOption, useOfferedPlans } from '../api/plans';
import { showInstant } from '../format/text';
import { CheckInput, SelectInput, TextInput } from '../ui/field';
import { Loaded } from '../ui/loaded';
import css from '../ui/ui.module.css';
import { PreviewedDialog } from './invoice-preview';

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
  // Reads the subscription again, because the page may be outdated.
  $api.useQuery(
    'get',
    '/v1/subscriptions/{id}',
    { params: { path: { id } } },
    { refetchOnMount: 'always' },
  );
  const plans = useOfferedPlans();
  const [planId, setPlanId] = useState(opened.plan_id);
  const [quantity, setQuantity] = useState(opened.quantity);
  const [when, setWhen] = useState<Change['when']>('now');
  const offered = (plans.data?.plans ?? []).filter((plan) => plan.currency === currency);
  const fault = quantityFault(quantity);
  /** True if a value differs from the subscription as it was when the dialog opened, or as it is now. */
  const isOther = (name: 'plan_id' | 'quantity', value: string): boolean =>
    value !== opened[name] || value !== subscription[name];
  const hasMoved = isOther('plan_id', opened.plan_id) || isOther('quantity', opened.quantity);
  const body = {
    when,
    ...(isOther('plan_id', planId) && { plan_id: planId }),
    // Always sent, so that what was shown is done, whatever somebody else has set meanwhile.
    quantity,
  } satisfies Change;
  const isChanged = (isOther('plan_id', planId) || isOther('quantity', quantity)) && fault === null;
  return (
    <PreviewedDialog
      title="Change the subscription"
      submitLabel="Confirm the change"
      sellsPlan
      request={isChanged ? { method: 'POST', path: `/v1/subscriptions/${id}/change`, body } : null}
      done={() => (when === 'now' ? 'Changed.' : 'The change is scheduled.')}
      onClose={onClose}
    >
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
      {hasMoved && (
        <p className={css['notice']} role="status">
          The subscription has changed since this dialog was opened. Its quantity is now{' '}
          {subscription.quantity}
          {isOther('plan_id', opened.plan_id) && ', and it has another plan'}.
        </p>
      )}
      {!isChanged && <p className={css['hint']}>Choose another plan or quantity.</p>}
    </PreviewedDialog>
  );
}

export interface Command {
  readonly path: 'pause' | 'resume' | 'uncancel';
  readonly label: string;
  readonly explains: string;
}

export function CommandDialog({
  subscription,
  command: { path, label, explains },
  onClose,
}: SubscriptionDialogProps & { readonly command: Command }): ReactNode {
  return (
    <PreviewedDialog
      title={`${label} the subscription`}
      submitLabel={label}
      request={{ method: 'POST', path: `/v1/subscriptions/${subscription.id}/${path}` }}
      done={() => `Done: ${label.toLowerCase()}.`}
      onClose={onClose}
    >
      <p>{explains}</p>
    </PreviewedDialog>
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
  const path = `/v1/subscriptions/${subscription.id}/cancel`;
  return (
    <PreviewedDialog
      title="Cancel the subscription"
      submitLabel="Cancel the subscription"
      kind="danger"
      request={{ method: 'POST', path, body }}
      done={() => (when === 'now' ? 'Canceled.' : 'Ends with its period.')}
      onClose={onClose}
    >
      <SelectInput
        label="When"
        value={when}
        options={[
          ...(canEndLater
            ? [
                [
                  'period_end',
                  `At the end of the period, ${showInstant(subscription.current_period_end)}`,
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
    </PreviewedDialog>
  );
}
