export interface Destination {
  readonly to: string;
  readonly label: string;
}

/** The pages of the menu, by group. */
export const NAVIGATION: readonly (readonly [group: string, pages: readonly Destination[]])[] = [
  ['', [{ to: '/customers', label: 'Customers' }]],
];
