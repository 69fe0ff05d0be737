/** `web/build/build.ts` makes these files; the modules are their URLs. */
declare module "generated:*" {
  const url: string;
  export default url;
}
