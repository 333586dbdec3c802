import {
  useMutation,
  type UseMutationOptions,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useRef } from 'react';

type State<Input> = Pick<
  UseMutationResult<unknown, Error, Input>,
  'error' | 'isIdle' | 'isPending' | 'reset' | 'variables'
>;

/**
 * As `useMutation`, but `mutate` does nothing while the mutation is running. `isPending` alone does not stop a double
 * click, because it changes with the next render.
 */
export function useSingleMutation<Answer, Input = void>(
  options: UseMutationOptions<Answer, Error, Input>,
): State<Input> & { readonly mutate: (input: Input) => void } {
  const isRunning = useRef(false);
  const mutation = useMutation(options);
  const mutate = (input: Input): void => {
    // After the mutation, `isPending` stays true until the next render, which may close the form.
    if (isRunning.current || mutation.isPending) return;
    isRunning.current = true;
    mutation.mutate(input, {
      onSettled: () => {
        isRunning.current = false;
      },
    });
  };
  return { ...mutation, mutate };
}
