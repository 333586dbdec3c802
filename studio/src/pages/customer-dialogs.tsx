import { type ReactNode, useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { ProblemBody, Schemas, Tagged } from '../api/client';
import type { Customer } from '../api/objects';
import { planOption, useOfferedPlans } from '../api/offered';
import { ActionDialog } from '../ui/dialog';
import { SelectInput, TextInput } from '../ui/field';
import { Loaded } from '../ui/loaded';
import { PreviewedDialog } from './invoice-preview';
import { quantityFault } from './subscription-dialogs';

interface CustomerDialogProps {
  readonly customer: Customer;
  readonly onClose: () => void;
}

/** Returns the text without blanks around it, or the stored value if the text was not changed. */
function entered(text: string, stored: string | null = null): string | null {
  if (text === (stored ?? '')) return stored;
  return text.trim() === '' ? null : text.trim();
}

interface CustomerFieldsProps {
  readonly name: string;
  readonly email: string;
  readonly externalId: string;
  readonly onName: (text: string) => void;
  readonly onEmail: (text: string) => void;
  readonly onExternalId: (text: string) => void;
}

function CustomerFields(props: CustomerFieldsProps): ReactNode {
  const { name, email, externalId, onName, onEmail, onExternalId } = props;
  return (
    <>
      <TextInput label="Name" autoFocus isRequired value={name} onChange={onName} />
      <TextInput label="Email" inputMode="email" value={email} onChange={onEmail} />
      <TextInput
        label="External id"
        hint="Id of the customer in your own system."
        value={externalId}
        onChange={onExternalId}
      />
    </>
  );
}

const refusalOf = ({ code }: ProblemBody): string | null =>
  code === 'customer_external_id_taken' ? 'Another customer has this external id.' : null;

type CustomerBody = Pick<Customer, 'name' | 'email' | 'external_id'>;

/** Returns the fields that differ from those of the customer. */
function changesOf(customer: Customer, body: CustomerBody): Partial<CustomerBody> {
  const names = ['name', 'email', 'external_id'] as const;
  const changed = names.filter((name) => body[name] !== customer[name]);
  return Object.fromEntries(changed.map((name) => [name, body[name]]));
}

/** @param customer the same one while the form is open; null for a new one */
function useCustomerFields(customer: Customer | null): {
  readonly fields: CustomerFieldsProps;
  readonly body: CustomerBody | null;
} {
  const [name, onName] = useState(customer?.name ?? '');
  const [email, onEmail] = useState(customer?.email ?? '');
  const [externalId, onExternalId] = useState(customer?.external_id ?? '');
  const enteredName = entered(name, customer?.name);
  return {
    fields: { name, email, externalId, onName, onEmail, onExternalId },
    body:
      enteredName === null
        ? null
        : {
            name: enteredName,
            email: entered(email, customer?.email),
            external_id: entered(externalId, customer?.external_id),
          },
  };
}

export function NewCustomerDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { fields, body } = useCustomerFields(null);
  const navigate = useNavigate();
  return (
    <ActionDialog<Customer>
      title="New customer"
      submitLabel="Create"
      request={(idempotencyKey) =>
        body && { method: 'POST', path: '/v1/customers', body, idempotencyKey }
      }
      done={({ name }) => `Created ${name.slice(0, 80)}.`}
      onDone={({ id }) => void navigate({ to: '/customers/$id', params: { id } })}
      explain={refusalOf}
      onClose={onClose}
    >
      <CustomerFields {...fields} />
    </ActionDialog>
  );
}

interface EditCustomerDialogProps {
  readonly customer: Tagged<Customer>;
  readonly onClose: () => void;
}

export function EditCustomerDialog({ customer, onClose }: EditCustomerDialogProps): ReactNode {
  // Keeps the customer and the entity tag from the time when the form was opened, because the page may read them again.
  const [{ answer: opened, tag }] = useState(customer);
  const path = `/v1/customers/${opened.id}`;
  const { fields, body } = useCustomerFields(opened);
  const changes = body && changesOf(opened, body);
  return (
    <ActionDialog
      title="Edit the customer"
      submitLabel="Save"
      request={() => changes && { method: 'PATCH', path, body: changes, ifMatch: tag }}
      done={() => 'Saved.'}
      explain={refusalOf}
      onClose={onClose}
    >
      <CustomerFields {...fields} />
    </ActionDialog>
  );
}

export function NewSubscriptionDialog({ customer, onClose }: CustomerDialogProps): ReactNode {
  const plans = useOfferedPlans();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState('');
  const [quantity, setQuantity] = useState('1');
  const [coupon, setCoupon] = useState('');
  const offered = (plans.data?.rows ?? []).filter(
    ({ currency }) => customer.currency === null || customer.currency === currency,
  );
  const fault = quantityFault(quantity);
  const body = {
    customer_id: customer.id,
    plan_id: chosen,
    quantity,
    ...(coupon.trim() !== '' && { coupon: coupon.trim() }),
  } satisfies Schemas['CreateSubscriptionDto'];
  return (
    <PreviewedDialog<Schemas['SubscriptionDto']>
      title="New subscription"
      submitLabel="Subscribe"
      sellsPlan
      request={
        chosen === '' || fault !== null ? null : { method: 'POST', path: '/v1/subscriptions', body }
      }
      done={() => 'Subscribed.'}
      onDone={({ id }) => void navigate({ to: '/subscriptions/$id', params: { id } })}
      onClose={onClose}
    >
      <Loaded query={plans}>
        {({ limit }) => (
          <SelectInput
            label="Plan"
            hint={
              offered.length === 0
                ? (limit ?? 'There is no plan in the currency of the customer.')
                : (limit ?? '')
            }
            value={chosen}
            options={[['', 'Choose a plan'], ...offered.map(planOption)]}
            onChange={setChosen}
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
      <TextInput label="Coupon code" value={coupon} onChange={setCoupon} />
    </PreviewedDialog>
  );
}
