import { Readable } from 'node:stream';
import {
  type CallHandler,
  type ExecutionContext,
  Logger,
  type NestInterceptor,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { identifyAgain } from '../access';
import { scalarNamesOf } from './example';
import type { PageDto } from './list';

export const CSV_MEDIA_TYPE = 'text/csv';
const MEDIA_TYPES = ['application/json', CSV_MEDIA_TYPE];

const ROWS_OF_A_PAGE = '100';

type CsvValue = string | number | boolean | null | undefined;

type CsvRow = Readonly<Record<string, CsvValue>>;

/** Splits each item of a list into several rows. Each row has the fields of its item, and additional `columns`. */
export interface CsvRows {
  readonly columns: readonly string[];
  rowsOf(item: unknown): readonly CsvRow[];
}

/**
 * Answers a list request with all matching rows as CSV, if the request prefers CSV. Runs the handler again for each
 * page, with the cursor of the previous page. Reads pages only as fast as the client reads the answer, so that memory
 * holds only one page. Cuts the answer off if the credential of the caller is revoked meanwhile.
 */
export class CsvInterceptor implements NestInterceptor {
  private readonly columns: readonly string[];

  constructor(
    item: Type<unknown>,
    /** False for a list that is never divided into pages. */
    private readonly isPaged: boolean,
    private readonly rows?: CsvRows,
  ) {
    this.columns = [...scalarNamesOf(item), ...(rows?.columns ?? [])];
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    http.getResponse<Response>().vary('Accept');
    if (request.accepts(MEDIA_TYPES) !== CSV_MEDIA_TYPE) return next.handle();
    const readPage = async (cursor: string | null): Promise<PageDto<CsvRow>> => {
      if (cursor !== null) await identifyAgain(request);
      if (this.isPaged) turnTo(request, cursor);
      return lastValueFrom(next.handle() as Observable<PageDto<CsvRow>>);
    };
    // Reads the first page before the status is sent, so that an invalid filter is answered with a problem.
    const first = await readPage(null);
    return of(toCsvFile(Readable.from(this.textOf(first, readPage))));
  }

  private async *textOf(
    first: PageDto<CsvRow>,
    readPage: (cursor: string) => Promise<PageDto<CsvRow>>,
  ): AsyncGenerator<string> {
    yield toCsvRow(this.columns);
    let page = first;
    for (;;) {
      const rows = page.data.flatMap(
        (item) => this.rows?.rowsOf(item).map((row) => ({ ...item, ...row })) ?? [item],
      );
      yield rows.map((row) => toCsvRow(this.columns.map((name) => row[name]))).join('');
      if (page.next_cursor === null) return;
      page = await readPage(page.next_cursor);
    }
  }
}

/**
 * Changes the URL of a list request to that of the page at the cursor, with the largest page size. A null cursor means
 * the first page. Writes the other parameters as Express parsed them, so that the handler reads the same values as the
 * access check.
 */
function turnTo(request: Request, cursor: string | null): void {
  const [path = ''] = request.url.split('?', 1);
  const parameters = new URLSearchParams(request.query as Record<string, string>);
  parameters.set('limit', ROWS_OF_A_PAGE);
  if (cursor === null) parameters.delete('cursor');
  else parameters.set('cursor', cursor);
  request.url = `${path}?${parameters.toString()}`;
}

/** Returns the rows as a file. If a page cannot be read, the answer is cut off, because its status was already sent. */
function toCsvFile(rows: Readable): StreamableFile {
  const file = new StreamableFile(rows, {
    type: `${CSV_MEDIA_TYPE}; charset=utf-8`,
    disposition: 'attachment',
  });
  file.setErrorLogger((error) => {
    new Logger('csv').error({ err: error }, 'answer cut off: its rows could not be read');
  });
  return file.setErrorHandler((_, response) => {
    (response as unknown as Response).destroy();
  });
}

/** Returns a row in the format of RFC 4180. */
export function toCsvRow(values: readonly CsvValue[]): string {
  return `${values.map(toCell).join(',')}\r\n`;
}

/**
 * Places in a cell where a spreadsheet may start to read a formula: at the start, and after a semicolon, tab or line
 * break. Some spreadsheets split rows at semicolons or tabs instead of commas, and ignore quotes within the resulting
 * cells. For them, each of these characters starts a new cell.
 */
const FORMULA = /(?=[=+\-@＝＋－＠])(?<=(?:^|[;\t\r\n])[\s"]*)/gu;

/** Text that is only a number, such as a quantity below zero. A spreadsheet runs no formula for it. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Returns the text of a cell. Puts an apostrophe before text that a spreadsheet could run as a formula. Numbers stay
 * unchanged, even negative ones, also if the JSON has them as text.
 */
function toCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string' || NUMBER.test(value)) return String(value);
  const text = value.replaceAll(FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
