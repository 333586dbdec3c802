import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Reading } from './loaded';

let opened = 0;

/**
 * Reads data that the user confirms. Returns only data that was read for this input after the component was mounted,
 * and returns nothing while the data is read again.
 * @param input identifies the data
 * @param load null: reads nothing
 */
export function useFresh<Data>(
  input: readonly unknown[],
  load: (() => Promise<Data>) | null,
): Reading<Data> {
  // Part of the key, so that data of an earlier mount is not used.
  const [mount] = useState(() => (opened += 1));
  const { data, error, isSuccess, isFetching, refetch } = useQuery({
    queryKey: ['fresh', mount, ...input],
    enabled: load !== null,
    staleTime: 0,
    gcTime: 0,
    queryFn: () =>
      load === null ? Promise.reject(new Error('There is nothing to read.')) : load(),
  });
  return {
    data: isSuccess && !isFetching ? data : undefined,
    error: isFetching ? null : error,
    refetch,
  };
}
