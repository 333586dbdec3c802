const KEY = 'billing-console-theme';

type Theme = 'light' | 'dark';

function stored(): Theme | null {
  try {
    const text = localStorage.getItem(KEY);
    return text === 'light' || text === 'dark' ? text : null;
  } catch {
    return null; // The browser allows this page no storage.
  }
}

/** Shows the theme that was chosen before; without one, the browser's. */
export function applyStoredTheme(): void {
  const theme = stored();
  if (theme !== null) document.documentElement.dataset['theme'] = theme;
}

export function flipTheme(): void {
  const { dataset } = document.documentElement;
  const preferred: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const theme: Theme = (dataset['theme'] ?? preferred) === 'dark' ? 'light' : 'dark';
  dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice lasts until the page is closed.
  }
}
