import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import type { Redemption, Subscription } from '../api/objects';
import { showInstant } from '../format/text';
import { Button } from '../ui/button';
import { amountColumn } from '../ui/columns';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import { ObjectLink } from '../ui/links';
import { LoadedRows, ROWS_SHOWN } from '../ui/loaded';
import { Card } from '../ui/page';
import { SmallTable } from '../ui/table';
import { SubscriptionCommandDialog } from './invoice-preview';
import type { SubscriptionDialogProps } from './subscription-dialogs';

function RedeemDialog({ subscription, onClose }: SubscriptionDialogProps): ReactNode {
  const [entered, setEntered] = useState('');
  const code = entered.trim();
  return (
    <SubscriptionCommandDialog
      title="Redeem a coupon"
      submitLabel="Redeem the coupon"
      subscription={subscription}
      request={({ id }) =>
        code === ''
          ? null
          : { method: 'POST', path: `/v1/subscriptions/${id}/coupons`, body: { code } }
      }
      done={() => `Redeemed ${code}.`}
      onClose={onClose}
    >
      {() => <TextInput label="Code" value={entered} onChange={setEntered} />}
    </SubscriptionCommandDialog>
  );
}

function RemoveDialog({
  redemption,
  onClose,
}: {
  readonly redemption: Redemption;
  readonly onClose: () => void;
}): ReactNode {
  const { id, code, subscription_id } = redemption;
  return (
    <ActionDialog
      title={`Remove ${code}`}
      action="Remove a coupon"
      submitLabel="Remove the coupon"
      kind="danger"
      request={() => ({
        method: 'DELETE',
        path: `/v1/subscriptions/${subscription_id}/coupons/${id}`,
      })}
      done={() => `Removed ${code}.`}
      onClose={onClose}
    >
      <p>
        It discounts no later invoice, and cannot be redeemed on this subscription again. Invoices
        that were made with it stay as they are.
      </p>
    </ActionDialog>
  );
}

/** The coupons of a subscription, ended ones included. */
export function SubscriptionCoupons({
  subscription,
  isEnded,
}: {
  readonly subscription: Subscription;
  readonly isEnded: boolean;
}): ReactNode {
  const [open, setOpen] = useState<'redeem' | Redemption | null>(null);
  const close = (): void => setOpen(null);
  const coupons = $api.useQuery('get', '/v1/subscriptions/{id}/coupons', {
    params: { path: { id: subscription.id }, query: { limit: ROWS_SHOWN } },
  });
  return (
    <Card
      title="Coupons"
      aside={
        !isEnded && (
          <Button needs="subscriptions:write" onClick={() => setOpen('redeem')}>
            Redeem…
          </Button>
        )
      }
    >
      <LoadedRows query={coupons}>
        {(rows) => (
          <SmallTable
            label="Coupons"
            rows={rows}
            keyOf={({ id }) => id}
            empty="No coupons."
            columns={[
              {
                title: 'Coupon',
                cell: ({ coupon_id, code }) => <ObjectLink id={coupon_id} label={code} />,
              },
              { title: 'Redeemed', cell: ({ redeemed_at }) => showInstant(redeemed_at) },
              amountColumn('Taken off', 'applied_amount'),
              { title: 'Ends', cell: ({ ends_at, ended_at }) => showInstant(ended_at ?? ends_at) },
              {
                title: 'Removed',
                cell: (redemption) =>
                  redemption.ended_at === null ? (
                    <Button needs="subscriptions:write" onClick={() => setOpen(redemption)}>
                      Remove…
                    </Button>
                  ) : (
                    showInstant(redemption.removed_at)
                  ),
              },
            ]}
          />
        )}
      </LoadedRows>
      {open === 'redeem' && <RedeemDialog subscription={subscription} onClose={close} />}
      {open !== null && open !== 'redeem' && <RemoveDialog redemption={open} onClose={close} />}
    </Card>
  );
}
