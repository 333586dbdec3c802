import type Stripe from 'stripe';

/** Returns an address with `null` for each missing part. */
export function fullAddress(address: Stripe.AddressParam): Stripe.Address {
  const { city, country, line1, line2, postal_code: postalCode, state } = address;
  return {
    city: city ?? null,
    country: country ?? null,
    line1: line1 ?? null,
    line2: line2 ?? null,
    postal_code: postalCode ?? null,
    state: state ?? null,
  };
}

/** Merges metadata. An empty value removes its key; an empty parameter removes all keys. */
export function mergedMetadata(
  existing: Stripe.Metadata,
  added: Stripe.MetadataParam | '' | null = {},
): Stripe.Metadata {
  if (added === '' || added === null) return {};
  const merged = { ...existing, ...(added as Stripe.Metadata) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ''));
}

/** Returns the id of a reference, expanded or not; an empty text if there is no reference. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string {
  return typeof reference === 'string' ? reference : (reference?.id ?? '');
}
