/** Who writes the invoice; what is not configured is null and not printed. */
export interface Seller {
  readonly name: string | null;
  readonly addressLines: readonly string[];
  readonly taxId: string | null;
  readonly email: string | null;
}

/** Who is billed. */
export interface Buyer {
  readonly name: string;
  readonly email: string | null;
  readonly addressLines: readonly string[];
  /** IANA name of the zone in which dates are shown. */
  readonly timezone: string;
}

/** Both as they were when the invoice was finalised: whoever moves later, it says what it said. */
export interface Parties {
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

/** What an invoice says of a customer as it is now. */
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
