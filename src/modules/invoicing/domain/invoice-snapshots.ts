/** Issuer of the invoice. A value that is not configured is null and is not printed. */
export interface Seller {
  readonly name: string | null;
  readonly addressLines: readonly string[];
  readonly taxId: string | null;
  readonly email: string | null;
}

export interface Buyer {
  readonly name: string;
  readonly email: string | null;
  readonly addressLines: readonly string[];
  readonly timezone: string;
}

export interface InvoiceSnapshots {
  readonly seller: Seller;
  readonly buyer: Buyer;
}

interface PostalAddress {
  readonly line1: string | null;
  readonly line2: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly postalCode: string | null;
  readonly country: string | null;
}

export function buyerOf({
  name,
  email,
  timezone,
  address,
}: Omit<Buyer, 'addressLines'> & { readonly address: PostalAddress | null }): Buyer {
  return { name, email, timezone, addressLines: address === null ? [] : linesOf(address) };
}

function linesOf(address: PostalAddress): readonly string[] {
  const { line1, line2, postalCode, city, state, country } = address;
  const place = [postalCode, city, state].filter((part) => part !== null).join(' ');
  return [line1, line2, place, country].filter((line) => line !== null && line !== '') as string[];
}
