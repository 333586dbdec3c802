import { type Account } from './account';
import { invalidRequest } from './errors';

type Node = Record<string, unknown>;

/**
 * Returns a copy of a response in which the ids at `paths` are replaced by their objects.
 *
 * @throws Refusal (400) for a path that leads to no id of an object.
 */
export function expanded(account: Account, answer: object, paths: readonly string[] = []): object {
  const copy = structuredClone(answer);
  for (const path of paths) expandPath(account, copy as Node, path.split('.'), path);
  return copy;
}

function expandPath(account: Account, node: Node, names: readonly string[], path: string): void {
  const [name = '', ...rest] = names;
  if (name === 'data' && Array.isArray(node['data'])) {
    for (const item of node['data'] as Node[]) expandPath(account, item, rest, path);
    return;
  }
  const value = node[name] as string | object | null | undefined;
  if (value === null) return;
  const object = typeof value === 'string' ? lookUp(account, value) : value;
  if (typeof object !== 'object') {
    throw invalidRequest(`This property cannot be expanded (${path}).`, { param: 'expand' });
  }
  node[name] = object;
  if (rest.length > 0) expandPath(account, object as Node, rest, path);
}

function lookUp(account: Account, id: string): object | undefined {
  const found =
    account.customers.get(id) ??
    account.deletedCustomers.get(id) ??
    account.paymentMethods.get(id) ??
    account.mandates.get(id) ??
    account.paymentIntents.get(id) ??
    account.charges.get(id) ??
    account.refunds.get(id) ??
    account.disputes.get(id) ??
    account.balanceTransactions.get(id);
  return found && structuredClone(found);
}
