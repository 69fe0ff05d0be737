/** The bundler copies the files of world-atlas and returns their URLs. */
declare module "world-atlas/*.json" {
  const url: string;
  export default url;
}
