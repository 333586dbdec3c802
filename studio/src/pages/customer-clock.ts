import { $api, type Schemas } from '../api/client';
import type { Reading } from '../ui/loaded';

/** Reads the test clock of a customer. @param id null or undefined: there is none, or it is not known yet */
export function useCustomerClock(id: string | null | undefined): Reading<Schemas['TestClockDto']> {
  return $api.useQuery(
    'get',
    '/v1/test-clocks/{id}',
    { params: { path: { id: id ?? '' } } },
    { enabled: typeof id === 'string' },
  );
}
