import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api, type Schemas } from '../api/client';
import { readPage } from '../api/lists';
import { pageOfId } from '../layout/object-pages';
import { showText } from '../format/text';

export interface ObjectLinkProps {
  readonly id: string | null;
  /** Shown instead of the id. */
  readonly label?: ReactNode;
}

/** A link to the page of an object, or only its id if the object has no page. */
export function ObjectLink({ id, label }: ObjectLinkProps): ReactNode {
  if (id === null) return showText(null);
  const text = label ?? id;
  const page = pageOfId(id);
  const className = label === undefined ? 'mono' : undefined;
  if (page === null) return <span className={className}>{text}</span>;
  return (
    <Link to={page} className={className} preload={false}>
      {text}
    </Link>
  );
}

export interface CustomerLinkProps {
  readonly id: string;
  /** The customer, if the list contains it. Otherwise this component requests it. */
  readonly customer?: Schemas['ExpandedCustomerDto'] | undefined;
}

/** A link to a customer, or only the name of a deleted customer. */
export function CustomerLink({ id, customer }: CustomerLinkProps): ReactNode {
  const { data } = $api.useQuery(
    'get',
    '/v1/customers/{id}',
    { params: { path: { id } } },
    { enabled: customer === undefined },
  );
  if (customer?.is_deleted === true) return `${customer.name} (deleted)`;
  return <ObjectLink id={id} label={customer?.name ?? data?.name} />;
}

export interface OwnerLinkProps {
  readonly id: string;
  /** A list that contains an object of the customer. */
  readonly list: '/v1/credit-notes' | '/v1/invoices' | '/v1/payments' | '/v1/subscriptions';
}

/** A link to the customer of an object. Reads the customer with a list, because a deleted customer cannot be read by id. */
export function OwnerLink({ id, list }: OwnerLinkProps): ReactNode {
  const query = { customer_id: id, expand: 'customer', limit: 1 };
  const { data } = useQuery({
    queryKey: ['owner', list, id],
    queryFn: () => readPage(list, query),
  });
  const customer = data?.data[0]?.customer;
  return customer === undefined ? (
    <ObjectLink id={id} />
  ) : (
    <CustomerLink id={id} customer={customer} />
  );
}

export interface NamedCustomerProps {
  readonly id: string | null;
  /** Null for sessions that may not read customers. */
  readonly name: string | null;
  readonly isDeleted: boolean | null;
}

/** A link to a customer in a report, or only the name of a deleted customer. */
export function NamedCustomer({ id, name, isDeleted }: NamedCustomerProps): ReactNode {
  if (isDeleted === true) return `${name ?? id ?? ''} (deleted)`;
  return <ObjectLink id={id} label={name ?? undefined} />;
}

export interface PlanNameProps {
  readonly id: string;
  /** The plan, if the list contains it. Otherwise this component requests it. */
  readonly plan?: Schemas['ExpandedPlanDto'] | undefined;
}

/** The name of a plan, or its id until the name is loaded. */
export function PlanName({ id, plan }: PlanNameProps): ReactNode {
  const { data } = $api.useQuery(
    'get',
    '/v1/plans/{id}',
    { params: { path: { id } } },
    { enabled: plan === undefined },
  );
  return plan?.name ?? data?.name ?? id;
}

export function PlanLink({ id }: { readonly id: string }): ReactNode {
  return <ObjectLink id={id} label={<PlanName id={id} />} />;
}

export function Id({ id }: { readonly id: string }): ReactNode {
  return <span className="mono">{id}</span>;
}
